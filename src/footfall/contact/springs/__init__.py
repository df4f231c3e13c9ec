"""What laws of springs and dampers share: gains derived from behaviour or materials, friction, and the longest step."""

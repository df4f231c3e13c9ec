"""What laws of springs and dampers share: gains derived or from materials, friction, and the longest step."""

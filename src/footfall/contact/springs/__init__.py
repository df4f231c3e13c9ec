"""Shared parts of spring-damper laws: gains derived from behaviour or materials, friction, and the longest step."""

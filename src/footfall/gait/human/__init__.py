"""A recorded human walk, fitted to a robot of a man's build."""

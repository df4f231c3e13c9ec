"""What commands share: the options of robot, ground, law and task, and their output."""

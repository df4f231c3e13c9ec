"""What several commands share: the options of robot, ground, law and task, and what is printed."""

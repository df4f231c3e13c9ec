"""One world in compiled code: the bridge to MuJoCo, contact points, the step."""

"""The process that Footfall runs in: memory and processors, Ctrl-C, garbage collection, its cache, MuJoCo's library."""

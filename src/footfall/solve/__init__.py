"""The mathematics that laws share: small dense kernels over arrays passed in, no allocation."""

"""Simulations in the browser while they run: pause, step, change the speed or the law, push by dragging a body."""

from footfall.live.view import LiveView

__all__ = ["LiveView"]

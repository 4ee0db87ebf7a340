"""Agents at work on whole tasks: started, watched, paused, cancelled, judged."""

"""A desktop live: pictures of what changed to those who watch, and their clicks and keys back."""

"""Where answers are computed: in this process, or by a model server."""

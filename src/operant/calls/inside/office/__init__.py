"""LibreOffice as calls use it: the connection to the instance that is seen, its documents, and what is done to them."""

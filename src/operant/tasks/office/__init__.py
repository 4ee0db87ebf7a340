"""Office documents as data: written for a task's set-up, and read back from what an agent saved.

A model (``Workbook``, ``TextDocument``, ``Presentation``) says what people see of a document. ``written`` makes a file of
it, ``read`` makes a model of a file, and ``difference`` names the first thing in which two of them differ. So a task says
what is there before and after, and everything else must have stayed as it was. openpyxl, python-docx and python-pptx
come with the extra ``office`` and are imported when the first file is made or read.
"""

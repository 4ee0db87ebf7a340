"""Pictures of what happened: actions drawn on screens, films, PNG files. Knows no desktop and no episode store."""

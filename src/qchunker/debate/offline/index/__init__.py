"""What a document says about itself, found once: its terms, clauses, tables, names, dates and exceptions."""

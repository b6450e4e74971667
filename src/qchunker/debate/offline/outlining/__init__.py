"""What questions are made from: sections, statements, tables and key terms, and how they are worded."""

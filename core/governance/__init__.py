"""Who may do what: principals and roles now, policies and their compilation as they land."""

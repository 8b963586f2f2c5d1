"""Who answers: the session protocol, the registry and one file per backend. No task, no bounds."""

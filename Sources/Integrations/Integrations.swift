// Integrations

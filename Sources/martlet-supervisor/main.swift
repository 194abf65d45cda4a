// martlet-supervisor

// martlet

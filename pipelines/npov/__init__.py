"""Neutral answers on controversial topics: are they faithful to the arguments they were given?"""

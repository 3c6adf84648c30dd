# Generated from openapi.json. Run `npm run openapi` after changes.
VERSION = "0.4.0"
"""The release of the package."""

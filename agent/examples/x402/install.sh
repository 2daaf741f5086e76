#!/bin/bash
# Installed with the repository: npm ci.
exit 0

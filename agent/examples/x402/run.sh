#!/bin/bash
node --import tsx server.ts

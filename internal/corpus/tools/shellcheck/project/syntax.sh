#!/bin/bash
if true; then
  echo a

const { test } = require('@playwright/test');

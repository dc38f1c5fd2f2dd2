import { test } from 'vitest';
import x from './not-there.js';
test('never runs', () => {});

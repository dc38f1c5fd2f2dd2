import { test } from 'bun:test';
import x from './not-there.js';
test('never runs', () => {});

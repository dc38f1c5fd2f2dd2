import { test, expect } from 'bun:test';
import { add } from './lib.js';
test('adds', () => { expect(add(1, 2)).toBe(3); });
test.skip('later', () => {});

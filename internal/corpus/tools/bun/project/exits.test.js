import { test, expect } from 'bun:test';
test('passes before', () => { expect(1).toBe(1); });
test('exits', () => { process.exit(3); });
test('passes behind', () => { expect(1).toBe(1); });

import { test, expect } from 'bun:test';
test('passes before', () => { expect(1).toBe(1); });
test('throws later', async () => { setTimeout(() => { throw new Error('thrown later'); }, 10); await new Promise(r => setTimeout(r, 100)); });

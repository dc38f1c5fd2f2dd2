import { test } from 'bun:test';
test('never runs', () => { const x = ; });

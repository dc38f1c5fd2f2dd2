import { test } from 'vitest';
test('never runs', () => { const x = ; });

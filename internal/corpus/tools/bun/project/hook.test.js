import { describe, it, expect, beforeAll, beforeEach } from 'bun:test';
describe('hooked', () => {
  beforeAll(() => { throw new Error('database is not ready'); });
  it('needs the hook', () => {});
});
describe('each', () => {
  beforeEach(() => { throw new Error('no account'); });
  it('needs an account', () => {});
});

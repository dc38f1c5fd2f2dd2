describe('hooked', () => {
  beforeAll(() => { throw new Error('database is not ready'); });
  it('needs the hook', () => {});
});
describe('cleaned', () => {
  afterEach(() => { throw new Error('the connection is still open'); });
  it('leaks', () => {});
});

describe('closed', () => {
  afterAll(() => { throw new Error('the server does not stop'); });
  it('works', () => { expect(1).toBe(1); });
});

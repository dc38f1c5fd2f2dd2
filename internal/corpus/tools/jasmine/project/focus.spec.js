fit('is alone', () => { expect(1).toBe(1); });
it('waits', () => { expect(1).toBe(1); });

it('passes before', () => { expect(1).toBe(1); });
it('exits', () => { process.exit(3); });

it('never runs', () => { const x = ; });

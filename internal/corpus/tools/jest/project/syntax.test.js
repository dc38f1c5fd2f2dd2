test('never runs', () => { const x = ; });

fn unused() {}

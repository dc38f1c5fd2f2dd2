pub fn broken( {
}

class Main {
	int BadName = 1;
    int x = 1;    
}

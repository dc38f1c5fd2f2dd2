use Test::More skip_all => 'nothing to do';

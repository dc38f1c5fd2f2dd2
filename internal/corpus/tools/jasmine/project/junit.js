const { JUnitXmlReporter } = require('jasmine-reporters');
jasmine.getEnv().addReporter(new JUnitXmlReporter({ savePath: '.', consolidateAll: true, filePrefix: 'junit' }));

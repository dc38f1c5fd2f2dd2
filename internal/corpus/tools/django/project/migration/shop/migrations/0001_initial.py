from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    operations = [migrations.RunSQL('CREATE TABEL shop_item (id integer)')]

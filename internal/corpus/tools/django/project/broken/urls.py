from django.http import HttpResponse
from django.urls import path

def crash(request):
    raise RuntimeError('the view is broken')

urlpatterns = [
    path('ok/', lambda request: HttpResponse('fine')),
    path('crash/', crash),
]

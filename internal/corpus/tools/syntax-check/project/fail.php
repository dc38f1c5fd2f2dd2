<?php
$a = 1;
if ($a {
    echo 1;
}

<?php

// Loads the classes where Composer is not used.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Postrider\\')) {
        $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, strlen('Postrider\\'))) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});

<?php

declare(strict_types=1);

/** Runs tests and counts them. */
final class Suite
{
    private int $tests = 0;
    private int $failed = 0;

    public function test(string $name, callable $test): void
    {
        $this->tests++;
        try {
            $test();
        } catch (\Throwable $error) {
            $this->failed++;
            echo "php: $name: ", $error::class, ': ', $error->getMessage(), ' at ', basename($error->getFile()), ':', $error->getLine(), "\n";
        }
    }

    /** Prints the counts as the runner of all suites reads them, and ends the program. */
    public function end(): never
    {
        echo json_encode(['tests' => $this->tests, 'pass' => $this->tests - $this->failed, 'fail' => $this->failed]), "\n";
        exit($this->failed === 0 ? 0 : 1);
    }
}

function check(bool $holds, string $sentence): void
{
    if (!$holds) {
        throw new \RuntimeException($sentence);
    }
}

function same(mixed $expected, mixed $got, string $what): void
{
    check($expected === $got, "$what is " . json_encode($got) . ', and ' . json_encode($expected) . ' was expected.');
}

/** Returns the error that a call throws. */
function failure(callable $call): Postrider\PostriderError
{
    try {
        $call();
    } catch (Postrider\PostriderError $error) {
        return $error;
    }
    throw new \RuntimeException('The call has not failed.');
}

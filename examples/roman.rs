// Reads numbers, prints them as the Romans would.
use std::io::{self, BufRead};

const NUMERALS: [(u32, &str); 13] = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
];

fn roman(mut n: u32) -> String {
    let mut text = String::new();
    for (value, numeral) in NUMERALS {
        while n >= value {
            text.push_str(numeral);
            n -= value;
        }
    }
    text
}

fn main() {
    for line in io::stdin().lock().lines() {
        if let Ok(n) = line.unwrap().trim().parse() {
            println!("{}", roman(n));
        }
    }
}

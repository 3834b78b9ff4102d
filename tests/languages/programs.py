"""For every language, one small program for each way a run can go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Programs:
    echo: str  # copies stdin to stdout
    crash: str  # ends with an error, and says "boom" on stderr
    loop: str  # never ends, burning cpu
    leak: str  # takes memory without end
    args: str  # prints its arguments, one a line
    broken: str  # does not compile, or does not parse
    unicode: str  # prints "Zoë → 日本 🎉" from a literal


PROGRAMS = {
    "bash": Programs(
        echo="cat",
        crash="echo boom >&2; exit 3",
        loop="while :; do :; done",
        leak="x=a; while :; do x=$x$x; done",
        args='for a in "$@"; do echo "$a"; done',
        broken="if then",
        unicode="echo 'Zoë → 日本 🎉'",
    ),
    "c": Programs(
        echo="#include <stdio.h>\nint main(){int c; while((c=getchar())!=EOF) putchar(c);}",
        crash='#include <stdio.h>\n#include <stdlib.h>\nint main(){fputs("boom",stderr);abort();}',
        loop="int main(){for(volatile int i=0;;i++);}",
        leak=(
            "#include <stdlib.h>\n#include <string.h>\n"
            "int main(){for(;;){char*p=malloc(1<<20);if(p)memset(p,1,1<<20);}}"
        ),
        args="#include <stdio.h>\nint main(int n,char**v){for(int i=1;i<n;i++)puts(v[i]);}",
        broken="int main( {",
        unicode='#include <stdio.h>\nint main(){puts("Zoë → 日本 🎉");}',
    ),
    "cpp": Programs(
        echo="#include <iostream>\nint main(){std::cout<<std::cin.rdbuf();}",
        crash='#include <stdexcept>\nint main(){throw std::runtime_error("boom");}',
        loop="int main(){for(volatile int i=0;;i=i+1);}",
        leak=(
            "#include <vector>\nint main(){std::vector<std::vector<char>> v;"
            "for(;;)v.emplace_back(1<<20,'x');}"
        ),
        args=(
            "#include <iostream>\n"
            "int main(int n,char**v){for(int i=1;i<n;i++)std::cout<<v[i]<<'\\n';}"
        ),
        broken="int main() { return x; }",
        unicode='#include <iostream>\nint main(){std::cout<<"Zoë → 日本 🎉\\n";}',
    ),
    "go": Programs(
        echo='package main\nimport ("io";"os")\nfunc main(){io.Copy(os.Stdout,os.Stdin)}',
        crash='package main\nfunc main(){panic("boom")}',
        loop="package main\nfunc main(){for i:=0;;i++{}}",
        leak=(
            "package main\nfunc main(){var x [][]byte\nfor{b:=make([]byte,1<<20)\n"
            "for i:=range b{b[i]=1}\nx=append(x,b)}}"
        ),
        args=(
            'package main\nimport ("fmt";"os")\n'
            "func main(){for _,a:=range os.Args[1:]{fmt.Println(a)}}"
        ),
        broken="package main\nfunc main(){undefined()}",
        unicode='package main\nimport "fmt"\nfunc main(){fmt.Println("Zoë → 日本 🎉")}',
    ),
    "java": Programs(
        echo=(
            "public class Echo{public static void main(String[] a)throws Exception"
            "{System.in.transferTo(System.out);System.out.flush();}}"
        ),
        crash=('class C{public static void main(String[] a){throw new RuntimeException("boom");}}'),
        loop="class L{public static void main(String[] a){while(true);}}",
        leak=(
            "import java.util.*;class M{public static void main(String[] a)"
            "{List<int[]> l=new ArrayList<>();while(true)l.add(new int[1<<18]);}}"
        ),
        args=("class A{public static void main(String[] a){for(var x:a)System.out.println(x);}}"),
        broken="class B { int x = ; }",
        unicode=(
            'class U{public static void main(String[] a){System.out.println("Zoë → 日本 🎉");}}'
        ),
    ),
    "javascript": Programs(
        echo="process.stdin.pipe(process.stdout)",
        crash="throw new Error('boom')",
        loop="for(;;);",
        leak="const x=[];for(;;)x.push(new Array(1e5).fill(1.5))",
        args="process.argv.slice(2).forEach(a=>console.log(a))",
        broken="let = ;",
        unicode="console.log('Zoë → 日本 🎉')",
    ),
    "lua": Programs(
        echo="io.write(io.read('a'))",
        crash="error('boom')",
        loop="while true do end",
        leak="local x={} while true do x[#x+1]=string.rep('a',1<<20)..#x end",
        args="for _,a in ipairs(arg) do print(a) end",
        broken="if then",
        unicode="print('Zoë → 日本 🎉')",
    ),
    "perl": Programs(
        echo="print while <STDIN>",
        crash="die 'boom'",
        loop="1 while 1",
        leak="my @x; push @x, 'a' x (1<<20) while 1",
        args='print "$_\\n" for @ARGV',
        broken="if {",
        unicode="print 'Zoë → 日本 🎉', \"\\n\"",
    ),
    "php": Programs(
        echo="<?php echo stream_get_contents(STDIN);",
        crash="<?php throw new Exception('boom');",
        loop="<?php while(true);",
        leak="<?php $x=[];while(true)$x[]=str_repeat('a',1<<20);",
        args='<?php foreach(array_slice($argv,1) as $a) echo "$a\\n";',
        broken="<?php if (",
        unicode='<?php echo "Zoë → 日本 🎉\\n";',
    ),
    "python": Programs(
        echo="import sys; sys.stdout.write(sys.stdin.read())",
        crash="raise SystemError('boom')",
        loop="while True: pass",
        leak="x=[]\nwhile True: x.append(bytearray(1<<20))",
        args="import sys\nfor a in sys.argv[1:]: print(a)",
        broken="def f(:",
        unicode="print('Zoë → 日本 🎉')",
    ),
    "ruby": Programs(
        echo="print STDIN.read",
        crash="raise 'boom'",
        loop="loop {}",
        leak="x=[]; loop { x << 'a'*(1<<20) }",
        args="ARGV.each { |a| puts a }",
        broken="def (",
        unicode="puts 'Zoë → 日本 🎉'",
    ),
    "rust": Programs(
        echo="fn main(){std::io::copy(&mut std::io::stdin(),&mut std::io::stdout()).unwrap();}",
        crash='fn main(){panic!("boom")}',
        loop='fn main(){let mut i=0u64;loop{i=i.wrapping_add(1);if i==7{print!("");}}}',
        leak="fn main(){let mut v=Vec::new();loop{v.push(vec![1u8;1<<20]);}}",
        args='fn main(){for a in std::env::args().skip(1){println!("{}",a);}}',
        broken='fn main(){ let x: i32 = "a"; }',
        unicode='fn main(){println!("Zoë → 日本 🎉");}',
    ),
    "typescript": Programs(
        echo="import * as fs from 'fs'; const s: string = fs.readFileSync(0,'utf8');"
        "process.stdout.write(s);",
        crash="const m: string = 'boom'; throw new Error(m)",
        loop="let i: number = 0; for(;;) i++;",
        leak="const x: number[][]=[];for(;;)x.push(new Array(1e5).fill(1.5))",
        args="process.argv.slice(2).forEach((a: string)=>console.log(a))",
        broken="let x: = ;",
        unicode="const s: string = 'Zoë → 日本 🎉'; console.log(s)",
    ),
}
